"""Results of *Congenial Differential Privacy under Mandated Disclosure*."""
