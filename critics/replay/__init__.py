"""Replay of certificates, with the standard library alone: what an auditor reads who trusts no critic.

Nothing here imports a critic, and every evidence is read and replayed by code apart from the critic's that made it.
`critics.recheck` has the texts judged again on top of it, by the critics.
"""
