"""When something of a loss exists: only while another hyperparameter has certain values."""

from podium.search_spaces.parameters import Condition

_BOUNDARY_IS_TRAINED = Condition("learn_beta", values=(True,))
_SEVERAL_CENTRES = Condition("centres", above=1)

CONDITIONS = {
    "margin": {"nu": _BOUNDARY_IS_TRAINED},
    "soft_triple": {"gamma": _SEVERAL_CENTRES, "tau": _SEVERAL_CENTRES},
}
"""Loss -> hyperparameter -> its condition."""
PROXIES_IF = {"margin": _BOUNDARY_IS_TRAINED, "margin_cosine": _BOUNDARY_IS_TRAINED}
"""Loss -> condition of the parameters that it trains itself; without one its ``needs`` decide."""
