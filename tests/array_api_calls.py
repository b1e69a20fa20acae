# ruff: noqa: E501  # a call is one word
"""The calls of docs/array-api.md's table: functions of SciPy and scikit-learn on tensors.

Each call is a text. In it, `v` (40,) and `w` (40,) are positive, `X` (40, 3) and `Y` (40, 2)
arbitrary, `S` (3, 3) is positive definite, `k` (5,) a kernel, `I` (12, 12) an image, `t` and `p`
(40,) classes 0 and 1 and predictions of them, `q` (40,) probabilities, `n` (40,) small counts, `c`
a frequency, `sos` a filter in second-order sections, `L` labels, `D` distances, `Z` a linkage of
these and `C` its clusters, `xp` the namespace. They are float32, or int64 where SciPy returns that.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special as scipy_special
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist
from scipy.stats import qmc

import ftensor as ft

SCIPY = """
scipy.fft: fft(v) ifft(v) rfft(v) irfft(v) fft2(I) ifft2(I) rfft2(I) irfft2(I) fftn(I) ifftn(I) rfftn(I) irfftn(I) hfft(v) ihfft(v) hfft2(I) ihfft2(I) hfftn(I) ihfftn(I) fftshift(v) ifftshift(v) fftfreq(8,xp=xp) rfftfreq(8,xp=xp) fht(v,0.1,0.0) ifht(v,0.1,0.0) dct(v) idct(v) dst(v) idst(v) dctn(I) idctn(I) dstn(I) idstn(I)
scipy.special: erf(v) erfc(v) erfinv(q) erfcx(v) expit(X) logit(q) gammaln(v) gammainc(v,w) gammaincc(v,w) gammaincinv(v,q) gammainccinv(v,q) multigammaln(v+1,2) digamma(v) psi(v) polygamma(1,v) zeta(v+1) zeta(v+1,w) i0(v) i0e(v) i1(v) i1e(v) j0(v) j1(v) y0(v) y1(v) k0(v) k0e(v) k1(v) k1e(v) yn(n,v) log_ndtr(X) ndtr(X) ndtri(q) xlogy(v,w) xlog1py(v,w) rel_entr(v,w) entr(v) kl_div(v,w) chdtr(v,w) chdtrc(v,w) chdtri(v,q) sinc(X) logsumexp(X,axis=1) softmax(X,axis=1) log_softmax(X,axis=1) huber(v,w) pseudo_huber(v,w) boxcox(v,w) boxcox1p(v,w) inv_boxcox(v,w) inv_boxcox1p(v,w) exp2(v) exp10(v) exprel(v) cosm1(v) pdtr(v,w) pdtrc(v,w) gdtr(v,w,w) gdtrc(v,w,w) stdtr(v,w) stdtrit(v,q) fdtr(v,w,w) fdtrc(v,w,w) fdtri(v,w,q) bdtr(v,n,q) bdtrc(v,n,q) bdtri(v,n,q) nbdtr(n,n,q) nbdtrc(n,n,q) nbdtri(n,n,q) betainc(v,w,q) betaincc(v,w,q) betaincinv(v,w,q) betaln(v,w) binom(v,w) poch(v,w) gamma(v) rgamma(v) loggamma(v) gammasgn(v) cbrt(v) radian(v,w,w) sindg(v) cosdg(v) tandg(v) cotdg(v) ellipk(q) ellipkm1(q) exp1(v) expi(v) expn(n,v) spence(v) hyp1f1(v,w,q) lpmv(0,v,q) zetac(v+1)
scipy.stats: describe(X) zscore(X) zmap(v,w) gzscore(v) skew(v) kurtosis(v) moment(v,2) gmean(v) hmean(v) pmean(v,2) gstd(v) variation(v) sem(v) iqr(v) mode(t) kstat(v) kstatvar(v) ttest_1samp(v,1.0) ttest_ind(v,w) ttest_rel(v,w) ttest_ind_from_stats(v,w,5,w,v,7) pearsonr(v,w) spearmanrho(v,w) chatterjeexi(v,w) spearmanr(v,w) kendalltau(v,w) linregress(v,w) entropy(v) differential_entropy(v) normaltest(v) jarque_bera(v) skewtest(v) kurtosistest(v) f_oneway(v,w) alexandergovern(v,w) bartlett(v,w) levene(v,w) fligner(v,w) mood(v,w) ansari(v,w) kruskal(v,w) friedmanchisquare(v,w,v*w) brunnermunzel(v,w) mannwhitneyu(v,w) wilcoxon(v,w) epps_singleton_2samp(v,w) cramervonmises(X[:,0],ndtr) cramervonmises_2samp(v,w) ks_1samp(X[:,0],ndtr) ks_2samp(v,w) chisquare(v,w*(v.sum()/w.sum())) power_divergence(v,w*(v.sum()/w.sum())) rankdata(v) tmean(v) tvar(v) tstd(v) tsem(v) tmin(v) tmax(v) trim_mean(v,0.1) boxcox_llf(0.5,v) yeojohnson_llf(0.5,v) circmean(v) circvar(v) circstd(v) directional_stats(X) combine_pvalues(q) false_discovery_control(q) quantile(v,q) lmoment(v) energy_distance(v,w) wasserstein_distance(v,w) sigmaclip(v) cumfreq(v) median_abs_deviation(v) bootstrap((v,),mean_of,n_resamples=20,rng=1) permutation_test((v,w),difference,n_resamples=20,vectorized=True,rng=1) monte_carlo_test(v,normal,mean_of,n_resamples=20,vectorized=True)
scipy.signal: convolve(v,k) fftconvolve(v,k) oaconvolve(v,k) correlate(v,k) convolve2d(I,S) correlate2d(I,S) choose_conv_method(v,k) deconvolve(v,k) detrend(v) hilbert(v) hilbert2(I) lfilter(k,v[:1],w) lfilter_zi(k,k[2:]) lfiltic(k,k[2:],v[:2]) sosfilt(sos,v) sosfilt_zi(sos) filtfilt(k,v[:1],w) sosfiltfilt(sos,v) savgol_filter(v,5,2) savgol_coeffs(5,2,xp=xp) medfilt(v,3) medfilt2d(I,3) order_filter(v,k>0,2) wiener(v,3) resample(v,20) resample_poly(v,2,3) upfirdn(k,v,2,1) decimate(v,2) periodogram(v) welch(v,nperseg=16) csd(v,w,nperseg=16) coherence(v,w,nperseg=16) spectrogram(v,nperseg=16) stft(v,nperseg=16) envelope(v) vectorstrength(v,2.0) czt(v) zoom_fft(v,0.5) spline_filter(I,0.1) cspline1d(v) cspline1d_eval(v,w) qspline1d(v) qspline1d_eval(v,w) cspline2d(I) symiirorder1(v,0.5,0.5) gauss_spline(v,3) freqz(k) freqz_sos(sos) freqz_zpk(k,k/2,1.0) freqs(k,k) freqs_zpk(k,k/2,1.0) group_delay((k,k)) minimum_phase(k) firwin(9,c) firwin2(9,band*0.5/band[-1]*2,band) firls(5,band,band) remez(9,band,band[:2],fs=2.2) butter(3,c) cheby1(3,1,c) cheby2(3,20,c) ellip(3,1,20,c) bessel(3,c) iirfilter(3,c,btype='low') iirdesign(c/2,c,1,20) iirnotch(0.4,2.0,xp=xp) iirpeak(0.4,2.0,xp=xp) iircomb(0.25,2.0,xp=xp) gammatone(0.4,'iir',xp=xp) buttap(3,xp=xp) cheb1ap(3,1,xp=xp) cheb2ap(3,20,xp=xp) ellipap(3,1,20,xp=xp) besselap(3,xp=xp) bilinear(k,k) bilinear_zpk(k,k/2,1.0,2.0) lp2lp(k,k) lp2hp(k,k) lp2bp(k,k) lp2bs(k,k) lp2lp_zpk(k,k/2,1.0) lp2hp_zpk(k,k/2,1.0) lp2bp_zpk(k,k/2,1.0) lp2bs_zpk(k,k/2,1.0) normalize(k,k) tf2zpk(k,k) tf2sos(k,k) zpk2tf(k,k/2,1.0) zpk2sos(k,k/2,1.0) sos2tf(sos) sos2zpk(sos) abcd_normalize(S,S,S,S) place_poles(S,S,k[:3]*-3)
scipy.signal.windows: hann(16,xp=xp) hamming(16,xp=xp) blackman(16,xp=xp) blackmanharris(16,xp=xp) nuttall(16,xp=xp) flattop(16,xp=xp) bartlett(16,xp=xp) barthann(16,xp=xp) bohman(16,xp=xp) boxcar(16,xp=xp) triang(16,xp=xp) parzen(16,xp=xp) cosine(16,xp=xp) exponential(16,xp=xp) tukey(16,xp=xp) taylor(16,xp=xp) lanczos(16,xp=xp) kaiser(16,5.0,xp=xp) kaiser_bessel_derived(16,5.0,xp=xp) gaussian(16,3.0,xp=xp) general_gaussian(16,1.5,3.0,xp=xp) general_hamming(16,0.7,xp=xp) general_cosine(16,k) chebwin(16,80.0,xp=xp) get_window('hann',16,xp=xp) dpss(16,2.5)
scipy.ndimage: gaussian_filter(I,1.0) gaussian_filter1d(I,1.0) gaussian_laplace(I,1.0) gaussian_gradient_magnitude(I,1.0) uniform_filter(I,3) uniform_filter1d(I,3) median_filter(I,3) percentile_filter(I,30,3) rank_filter(I,2,3) minimum_filter(I,3) minimum_filter1d(I,3) maximum_filter(I,3) maximum_filter1d(I,3) sobel(I) prewitt(I) laplace(I) convolve(I,S) convolve1d(I,k) correlate(I,S) correlate1d(I,k) fourier_gaussian(I,1.0) fourier_uniform(I,1.0) fourier_shift(I,1.0) fourier_ellipsoid(I,1.0) spline_filter(I) spline_filter1d(I) zoom(I,2.0) shift(I,1.0) rotate(I,30.0) affine_transform(I,S[:2,:2]) map_coordinates(I,X.T[:2]) label(I>0.5) find_objects(L) value_indices(L) labeled_comprehension(I,L,M,max,float,0) sum(I) sum_labels(I) mean(I) median(I) variance(I) standard_deviation(I) minimum(I) maximum(I) minimum_position(I) maximum_position(I) extrema(I) histogram(I,0,1,4) center_of_mass(I) binary_erosion(I>0.5) binary_dilation(I>0.5) binary_opening(I>0.5) binary_closing(I>0.5) binary_fill_holes(I>0.5) binary_hit_or_miss(I>0.5) binary_propagation(I>0.5) grey_erosion(I,3) grey_dilation(I,3) grey_opening(I,3) grey_closing(I,3) morphological_gradient(I,3) morphological_laplace(I,3) white_tophat(I,3) black_tophat(I,3) distance_transform_edt(I>0.5) distance_transform_cdt(I>0.5) distance_transform_bf(I>0.5) iterate_structure(S>0,2)
scipy.linalg: orthogonal_procrustes(X,X) block_diag(S,S) fiedler(k) hilbert(3) hankel(k) toeplitz(k) inv(S) solve(S,S) svdvals(X) expm(S) det(S) cholesky(S) qr(S) lu(S) eigh(S) norm(S) pinv(X) lstsq(X,v)
scipy.integrate: trapezoid(v) cumulative_trapezoid(v) simpson(v) cumulative_simpson(v) romb(v[:33]) tanhsinh(square,v*0,v) nsum(inverse,v*0+1,v*0+9) cubature(square,v[:1]*0,v[:1]) qmc_quad(total,v[:2]*0,v[:2],n_points=64,qrng=halton())
scipy.differentiate: derivative(square,v) jacobian(square,v[:3]) hessian(total,v[:2])
scipy.optimize.elementwise: find_root(minus_one,(v*0,v+2)) find_minimum(distance,(v*0,v/4,v+2)) bracket_root(minus_one,v*0,v*0+0.5) bracket_minimum(distance,v*0)
scipy.interpolate: RBFInterpolator(X,v)(X[:4]) CubicSpline(g,w)(v) Akima1DInterpolator(g,w)(v) PchipInterpolator(g,w)(v) make_interp_spline(g,w)(v) RegularGridInterpolator((g[:12],g[:12]),I)(X[:4,:2]*0+0.3)
scipy.cluster.vq: whiten(X) vq(X,X[:4]) kmeans(X,X[:3]) kmeans2(X,X[:3],minit='matrix')
scipy.cluster.hierarchy: linkage(X) single(D) complete(D) average(D) weighted(D) centroid(D) median(D) ward(D) fclusterdata(X,1.0) fcluster(Z,1.0) cophenet(Z) inconsistent(Z) leaders(Z,C) leaves_list(Z) maxdists(Z) optimal_leaf_ordering(Z,D) is_monotonic(Z) is_valid_linkage(Z) is_isomorphic(C,C) num_obs_linkage(Z) correspond(Z,D) to_mlab_linkage(Z)
scipy.spatial.distance: cdist(X,X) pdist(X) euclidean(v,w) cosine(v,w) squareform(S-S)
scipy.spatial.transform: Rotation.from_quat(X4).as_matrix() Rotation.from_rotvec(X).as_quat() Rotation.from_euler('xyz',X).apply(X) Rotation.from_quat(X4).inv().as_euler('xyz') RigidTransform.from_translation(X).as_matrix()
scipy.constants: convert_temperature(v,'C','K') lambda2nu(v) nu2lambda(v)
"""
SKLEARN = """
sklearn.metrics: accuracy_score(t,p) balanced_accuracy_score(t,p) brier_score_loss(t,q) d2_brier_score(t,q) log_loss(t,q) d2_log_loss_score(t,q) confusion_matrix(t,p) multilabel_confusion_matrix(t,p) f1_score(t,p) precision_score(t,p) recall_score(t,p) fbeta_score(t,p,beta=0.5) jaccard_score(t,p) hamming_loss(t,p) zero_one_loss(t,p) cohen_kappa_score(t,p) matthews_corrcoef(t,p) roc_curve(t,q) roc_auc_score(t,q) det_curve(t,q) precision_recall_curve(t,q) average_precision_score(t,q) mean_squared_error(v,w) mean_absolute_error(v,w) root_mean_squared_error(v,w) mean_squared_log_error(v,w) root_mean_squared_log_error(v,w) mean_absolute_percentage_error(v,w) mean_tweedie_deviance(v,w) mean_poisson_deviance(v,w) mean_gamma_deviance(v,w) mean_pinball_loss(v,w) max_error(v,w) median_absolute_error(v,w) r2_score(v,w) explained_variance_score(v,w) d2_tweedie_score(v,w) d2_absolute_error_score(v,w) d2_pinball_score(v,w)
sklearn.metrics.pairwise: euclidean_distances(X,X) cosine_similarity(X,X) cosine_distances(X,X) linear_kernel(X,X) polynomial_kernel(X,X) rbf_kernel(X,X) sigmoid_kernel(X,X) laplacian_kernel(X,X) manhattan_distances(X,X) additive_chi2_kernel(X**2,X**2) chi2_kernel(X**2,X**2) paired_euclidean_distances(X,X) paired_manhattan_distances(X,X) paired_cosine_distances(X,X) pairwise_distances(X,X) pairwise_distances_argmin(X,X) pairwise_kernels(X,X)
sklearn.preprocessing: StandardScaler().fit_transform(X) MinMaxScaler().fit_transform(X) MaxAbsScaler().fit_transform(X) Normalizer().fit_transform(X) Binarizer().fit_transform(X) KernelCenterer().fit_transform(S) PolynomialFeatures().fit_transform(X) LabelEncoder().fit_transform(t) LabelBinarizer().fit_transform(t) minmax_scale(X) maxabs_scale(X) binarize(X) normalize(X) scale(X)
sklearn.decomposition: PCA(2,svd_solver='full').fit_transform(X) PCA(2,svd_solver='covariance_eigh').fit(X).explained_variance_ PCA(2,svd_solver='full').fit(X).score(X) PCA(2,svd_solver='randomized',power_iteration_normalizer='QR',random_state=0).fit_transform(X)
sklearn.linear_model: Ridge(solver='svd').fit(X,v).predict(X) RidgeCV().fit(X,v).predict(X) RidgeClassifier(solver='svd').fit(X,t).predict(X) RidgeClassifierCV().fit(X,t).predict(X) PoissonRegressor(solver='lbfgs').fit(X,v).predict(X) LinearRegression().fit(X,v).predict(X) LogisticRegression(solver='lbfgs').fit(X,t).predict(X)
sklearn.discriminant_analysis: LinearDiscriminantAnalysis().fit(X,t).predict(X)
sklearn.naive_bayes: GaussianNB().fit(X,t).predict(X)
sklearn.mixture: GaussianMixture(2,init_params='random_from_data',random_state=0).fit(X).predict(X)
sklearn.kernel_approximation: Nystroem(n_components=3,random_state=0).fit_transform(X)
sklearn.model_selection: train_test_split(X,t,random_state=0) cross_val_predict(Ridge(solver='svd'),X,v) cross_val_score(Ridge(solver='svd'),X,v)
sklearn.calibration: CalibratedClassifierCV(LinearDiscriminantAnalysis(),method='temperature').fit(X,t).predict_proba(X)
sklearn.pipeline: make_pipeline(StandardScaler(),Ridge(solver='svd')).fit(X,v).predict(X)
"""
# Classes that have calls in other modules.
USED = {
    "linear_model": "Ridge",
    "preprocessing": "StandardScaler",
    "discriminant_analysis": "LinearDiscriminantAnalysis",
}


def calls(text: str) -> list[tuple[str, str]]:
    """Returns (module, call) of each call in a list."""
    pairs = []
    for line in text.strip().splitlines():
        module, _, words = line.partition(": ")
        pairs += [(module, word) for word in words.split()]
    return pairs


def operands() -> dict[str, np.ndarray[Any, Any]]:
    """Returns the NumPy arrays of the calls."""
    random = np.random.default_rng(3)
    root = random.normal(size=(3, 3))
    t = random.integers(0, 2, 40)
    values: dict[str, Any] = {
        "v": random.uniform(0.5, 2, 40),
        "w": random.uniform(0.5, 2, 40),
        "X": random.normal(size=(40, 3)) + t[:, None],
        "X4": random.normal(size=(5, 4)),
        "S": root @ root.T + 3 * np.eye(3),
        "k": np.array([1, 2, 3, 2, 1]) / 9,
        "I": random.uniform(size=(12, 12)),
        "q": random.uniform(0.05, 0.95, 40),
    }
    arrays = {name: value.astype(np.float32) for name, value in values.items()}
    arrays |= {"t": t, "p": np.where(random.uniform(size=40) < 0.8, t, 1 - t), "n": np.arange(40) % 4}
    arrays["L"] = (np.arange(144).reshape(12, 12) // 50).astype(np.int32)
    arrays["M"] = np.arange(3)
    arrays["g"] = np.arange(40, dtype=np.float32) / 20
    arrays["c"] = np.asarray(0.4, np.float32)
    arrays["sos"] = np.array([[1, 2, 1, 1, -0.5, 0.1]], np.float32)
    arrays["band"] = np.array([0, 0.3, 0.5, 1], np.float32)
    distances = pdist(arrays["X"][:9])
    tree = linkage(distances)
    return arrays | {"D": distances, "Z": tree, "C": fcluster(tree, 1.0)}


def functions(xp: Any) -> dict[str, Any]:
    """Returns the functions of the calls, in a namespace."""

    def flat(x: Any) -> Any:
        return xp.sum(x * x, axis=0)

    return {
        "xp": xp,
        "halton": lambda: qmc.Halton(2, rng=1),
        "ndtr": scipy_special.ndtr,
        "mean_of": xp.mean,
        "total": flat,
        "square": lambda x: x * x,
        "inverse": lambda x: 1 / x**2,
        "minus_one": lambda x: x - 1,
        "distance": lambda x: (x - 1) ** 2,
        "difference": lambda x, y, axis: xp.mean(x, axis=axis) - xp.mean(y, axis=axis),
        "normal": lambda size: xp.asarray(np.random.default_rng(1).normal(size=size)),
    }


class Watch:
    """Counts the reads of tensors on the host inside the block."""

    NAMES = ("__array__", "__dlpack__", "numpy", "tolist")

    def __enter__(self) -> Watch:
        self.count = 0
        self.before = {name: getattr(ft.Tensor, name) for name in self.NAMES}
        for name, method in self.before.items():
            setattr(ft.Tensor, name, self._counted(method))
        return self

    def _counted(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def read(x: ft.Tensor, *args: Any, **named: Any) -> Any:
            self.count += x.ndim > 0
            return method(x, *args, **named)

        return read

    def __exit__(self, *error: object) -> None:
        for name, method in self.before.items():
            setattr(ft.Tensor, name, method)


def leaves(value: Any) -> list[Any]:
    """Returns the arrays and numbers of a result."""
    if isinstance(value, (ft.Tensor, np.ndarray, np.generic, int, float)):
        return [value]
    if isinstance(value, (tuple, list)):
        return [leaf for part in value for leaf in leaves(part)]
    return [leaf for name in ("statistic", "pvalue") for leaf in leaves(getattr(value, name, ()))]


def outcome(module: str, call: str) -> tuple[str, str]:
    """Returns ("device" | "in part" | "host" | "refused" | "differs", reason) for a call on
    tensors."""
    import importlib

    scope = vars(importlib.import_module(module)) | {
        name: getattr(importlib.import_module(f"sklearn.{where}"), name) for where, name in USED.items()
    }
    arrays = operands()
    tensors = {name: ft.from_numpy(value.copy()) for name, value in arrays.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            wanted = leaves(eval(call, scope | arrays | functions(np)))
        except Exception as error:  # noqa: BLE001  # a call that NumPy's arrays can't make
            return "skipped", f"{type(error).__name__}: {error}"
        try:
            with Watch() as watch:
                got = leaves(eval(call, scope | tensors | functions(ft.array_api)))
        except Exception as error:  # noqa: BLE001  # which is what the table shows
            return "refused", f"{type(error).__name__}: {error}"
    for a, b in zip(wanted, got, strict=True):
        theirs = np.asarray(b)
        if not np.allclose(a, theirs, rtol=2e-3, atol=2e-4, equal_nan=True):
            return "differs", f"by {np.abs(np.asarray(a) - theirs).max():.2g}"
    if any(isinstance(b, np.ndarray) and b.ndim for b in got):
        return "host", "gives NumPy's arrays"
    return ("in part", f"{watch.count} arrays are read") if watch.count else ("device", "")
