"""The same critics as a reward, for TRL's GRPO and RLOO (extra `trl`), and audits of anybody's reward."""
