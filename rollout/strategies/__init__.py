"""Strategies: how a policy is asked, one file each; all of them run on `rollout.policies.engine`."""
