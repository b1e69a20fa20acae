"""Messages of `ft.distributions`."""

from __future__ import annotations

from .message import Message

parameter = Message(ValueError, "{kind}(): `{name}` must be {what}", "kind name what")
one_of_two = Message(
    ValueError, "{kind}() takes one of `{first}` and `{second}`, not both or none", "kind first second"
)
one_matrix = Message(ValueError, "MultivariateNormal() takes one of covariance_matrix, precision_matrix and scale_tril")
too_many_dims = Message(
    ValueError, "Independent(): {count} dims are more than the batch shape {shape!t} has", "count shape"
)
no_form = Message(NotImplementedError, "{kind} has no {name} in closed form here", "kind name")
no_divergence = Message(NotImplementedError, "kl_divergence() has no formula for {p} and {q}", "p q")
