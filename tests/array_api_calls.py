# ruff: noqa: E501  # a call is one word
"""SciPy's and scikit-learn's functions on tensors: which calls docs/array-api.md's table is about.

Each is a text in which `v` (40,) and `w` (40,) are positive, `X` (40, 3) and `Y` (40, 2) any,
`S` (3, 3) is positive definite, `k` (5,) a kernel, `I` (12, 12) a picture, `t` and `p` (40,) classes
0 and 1 and predictions of them, `q` (40,) probabilities, all float32 or int64.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import ftensor as ft

SCIPY = """
scipy.fft: fft(v) ifft(v) rfft(v) irfft(v) fft2(I) fftn(I) rfftn(I) irfftn(I) hfft(v) ihfft(v) fftshift(v) fftfreq(8) dct(v) dst(v)
scipy.special: erf(v) erfc(v) expit(X) gammaln(v) gammainc(v,w) i0(v) i1e(v) log_ndtr(X) logit(q) logsumexp(X,axis=1) softmax(X,axis=1) log_softmax(X,axis=1) ndtr(X) ndtri(q) xlogy(v,w) digamma(v) betaln(v,w) rel_entr(v,w) entr(v) chdtr(v,w) zeta(v+1,w) sinc(X)
scipy.stats: describe(X) zscore(X) skew(v) kurtosis(v) moment(v,2) gmean(v) hmean(v) pmean(v,2) variation(v) sem(v) iqr(v) ttest_1samp(v,1.0) ttest_ind(v,w) ttest_rel(v,w) pearsonr(v,w) spearmanr(v,w) kendalltau(v,w) linregress(v,w) entropy(v) differential_entropy(v) normaltest(v) jarque_bera(v) skewtest(v) kurtosistest(v) f_oneway(v,w) bartlett(v,w) levene(v,w) kruskal(v,w) mannwhitneyu(v,w) wilcoxon(v,w) ks_2samp(v,w) chisquare(v,w*(v.sum()/w.sum())) power_divergence(v,w*(v.sum()/w.sum())) rankdata(v) zmap(v,w) tmean(v) tvar(v) tstd(v) trim_mean(v,0.1) boxcox_llf(0.5,v) circmean(v) circvar(v) directional_stats(X) combine_pvalues(q) quantile(v,q) energy_distance(v,w) wasserstein_distance(v,w) sigmaclip(v) cumfreq(v) median_abs_deviation(v)
scipy.signal: convolve(v,k) fftconvolve(v,k) correlate(v,k) oaconvolve(v,k) convolve2d(I,S) detrend(v) hilbert(v) lfilter(k,v[:1],w) sosfilt([[1.,2.,1.,1.,-0.5,0.1]],v) filtfilt(k,v[:1],w) savgol_filter(v,5,2) medfilt(v,3) resample(v,20) resample_poly(v,2,3) decimate(v,2) periodogram(v) welch(v,nperseg=16) csd(v,w,nperseg=16) coherence(v,w,nperseg=16) spectrogram(v,nperseg=16) stft(v,nperseg=16) envelope(v) firwin(9,0.5) windows.hann(16) freqz(k) vectorstrength(v,2.0) symiirorder1(v,0.5,0.5) czt(v) wiener(v,3)
scipy.ndimage: gaussian_filter(I,1.0) uniform_filter(I,3) median_filter(I,3) sobel(I) laplace(I) convolve(I,S) correlate1d(I,k) maximum_filter(I,3) zoom(I,2.0) shift(I,1.0) rotate(I,30.0) label(I>0.5) center_of_mass(I) binary_erosion(I>0.5) distance_transform_edt(I>0.5) sum_labels(I) histogram(I,0,1,4) map_coordinates(I,X.T[:2])
scipy.linalg: hilbert(3) hankel(k) toeplitz(k) inv(S) solve(S,S) svdvals(X) expm(S) orthogonal_procrustes(X,X)
scipy.integrate: trapezoid(v) cumulative_trapezoid(v) simpson(v) cumulative_simpson(v)
scipy.cluster.vq: whiten(X) vq(X,X[:4]) kmeans2(X,X[:3],minit='matrix')
scipy.cluster.hierarchy: linkage(X)
scipy.spatial.distance: cdist(X,X) pdist(X) euclidean(v,w) cosine(v,w) squareform(S-S)
scipy.spatial.transform: Rotation.from_quat(X4).as_matrix() Rotation.from_rotvec(X).as_quat() Rotation.from_euler('xyz',X).apply(X)
scipy.constants: convert_temperature(v,'C','K') lambda2nu(v)
"""
SKLEARN = """
sklearn.metrics: accuracy_score(t,p) balanced_accuracy_score(t,p) brier_score_loss(t,q) log_loss(t,q) confusion_matrix(t,p) f1_score(t,p) precision_score(t,p) recall_score(t,p) fbeta_score(t,p,beta=0.5) jaccard_score(t,p) hamming_loss(t,p) zero_one_loss(t,p) cohen_kappa_score(t,p) matthews_corrcoef(t,p) roc_curve(t,q) roc_auc_score(t,q) precision_recall_curve(t,q) average_precision_score(t,q) mean_squared_error(v,w) mean_absolute_error(v,w) root_mean_squared_error(v,w) mean_squared_log_error(v,w) mean_absolute_percentage_error(v,w) mean_tweedie_deviance(v,w) mean_pinball_loss(v,w) max_error(v,w) median_absolute_error(v,w) r2_score(v,w) explained_variance_score(v,w) d2_tweedie_score(v,w)
sklearn.metrics.pairwise: euclidean_distances(X,X) cosine_similarity(X,X) cosine_distances(X,X) linear_kernel(X,X) polynomial_kernel(X,X) rbf_kernel(X,X) sigmoid_kernel(X,X) laplacian_kernel(X,X) manhattan_distances(X,X) additive_chi2_kernel(X**2,X**2) chi2_kernel(X**2,X**2) paired_euclidean_distances(X,X) paired_cosine_distances(X,X) pairwise_distances(X,X)
sklearn.preprocessing: StandardScaler().fit_transform(X) MinMaxScaler().fit_transform(X) MaxAbsScaler().fit_transform(X) Normalizer().fit_transform(X) Binarizer().fit_transform(X) KernelCenterer().fit_transform(S) PolynomialFeatures().fit_transform(X) LabelEncoder().fit_transform(t) LabelBinarizer().fit_transform(t) normalize(X) scale(X)
sklearn.decomposition: PCA(2,svd_solver='full').fit_transform(X) PCA(2,svd_solver='covariance_eigh').fit(X).explained_variance_ PCA(2,svd_solver='full').fit(X).score(X)
sklearn.linear_model: Ridge(solver='svd').fit(X,v).predict(X) RidgeCV().fit(X,v).predict(X) RidgeClassifier(solver='svd').fit(X,t).predict(X) LinearRegression().fit(X,v).predict(X) LogisticRegression(solver='lbfgs').fit(X,t).predict(X)
sklearn.discriminant_analysis: LinearDiscriminantAnalysis().fit(X,t).predict(X)
sklearn.naive_bayes: GaussianNB().fit(X,t).predict(X)
sklearn.mixture: GaussianMixture(2,init_params='random_from_data',random_state=0).fit(X).predict(X)
sklearn.kernel_approximation: Nystroem(n_components=3,random_state=0).fit_transform(X)
sklearn.model_selection: train_test_split(X,t,random_state=0) cross_val_predict(Ridge(solver='svd'),X,v)
"""


def calls(text: str) -> list[tuple[str, str]]:
    """(module, call) of each call in a list."""
    found = []
    for line in text.strip().splitlines():
        module, _, words = line.partition(": ")
        found += [(module, word) for word in words.split()]
    return found


def operands() -> dict[str, np.ndarray[Any, Any]]:
    """The NumPy arrays that calls are about."""
    random = np.random.default_rng(3)
    root = random.normal(size=(3, 3))
    t = random.integers(0, 2, 40)
    values: dict[str, Any] = {
        "v": random.uniform(0.5, 2, 40), "w": random.uniform(0.5, 2, 40),
        "X": random.normal(size=(40, 3)) + t[:, None], "X4": random.normal(size=(5, 4)),
        "S": root @ root.T + 3 * np.eye(3), "k": np.array([1, 2, 3, 2, 1]) / 9,
        "I": random.uniform(size=(12, 12)), "q": random.uniform(0.05, 0.95, 40),
    }  # fmt: skip
    made = {name: value.astype(np.float32) for name, value in values.items()}
    return made | {"t": t, "p": np.where(random.uniform(size=40) < 0.8, t, 1 - t)}


class Watch:
    """Counts the arrays of tensors that are read on the host while it is entered."""

    NAMES = ("__array__", "__dlpack__", "numpy", "tolist")

    def __enter__(self) -> Watch:
        """Begin."""
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
        """Put the methods back."""
        for name, method in self.before.items():
            setattr(ft.Tensor, name, method)


def leaves(value: Any) -> list[Any]:
    """The arrays and numbers of a result."""
    if isinstance(value, (ft.Tensor, np.ndarray, np.generic, int, float)):
        return [value]
    if isinstance(value, (tuple, list)):
        return [leaf for part in value for leaf in leaves(part)]
    return [leaf for name in ("statistic", "pvalue") for leaf in leaves(getattr(value, name, ()))]


def outcome(module: str, call: str) -> tuple[str, str]:
    """("device" | "in part" | "host" | "refused" | "differs", why) of a call on tensors."""
    import importlib

    scope = vars(importlib.import_module(module)) | {
        "Ridge": __import__("sklearn.linear_model").linear_model.Ridge
    }
    arrays = operands()
    tensors = {name: ft.from_numpy(value.copy()) for name, value in arrays.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            wanted = leaves(eval(call, scope | arrays))
        except Exception as error:  # noqa: BLE001  # a call that NumPy's arrays can't make
            return "skipped", f"{type(error).__name__}: {error}"
        try:
            with Watch() as watch:
                got = leaves(eval(call, scope | tensors))
        except Exception as error:  # noqa: BLE001  # which is what the table shows
            return "refused", f"{type(error).__name__}: {error}"
    for a, b in zip(wanted, got, strict=True):
        theirs = np.asarray(b)
        if not np.allclose(a, theirs, rtol=2e-3, atol=2e-4, equal_nan=True):
            return "differs", f"by {np.abs(np.asarray(a) - theirs).max():.2g}"
    if any(isinstance(b, np.ndarray) and b.ndim for b in got):
        return "host", "gives NumPy's arrays"
    return ("in part", f"{watch.count} arrays are read") if watch.count else ("device", "")
