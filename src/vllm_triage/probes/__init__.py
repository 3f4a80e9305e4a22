"""What the machine says: facts about the host, and checks that confirm or refute a diagnosis with them.

Everything here only reads.
"""
