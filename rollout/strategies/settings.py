"""Base of the settings of strategies: frozen, and closed to keys that it does not know."""

from pydantic import BaseModel, ConfigDict


class Settings(BaseModel):
    """Settings of a strategy, as a configuration writes them and a trace records them."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)
