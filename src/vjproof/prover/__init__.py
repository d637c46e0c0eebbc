"""The prover, untrusted: it searches, the kernel checks. Its answers are proved, refuted and not proved."""
