"""What tables and figures call by one name, apart so that figures do without the samplers."""

RECORD, UNIT = "replaced record", "unit of l1"  # the two currencies of epsilon
PRINTED = (0.88, 0.86, 0.91)  # of the campus example: median, 5 % and 95 % quantile (SDP, 5.2)
