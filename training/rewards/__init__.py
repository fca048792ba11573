"""The same critics as a reward: for TRL's GRPO and RLOO, and preferences for its DPO and KTO (extra `trl`)."""
