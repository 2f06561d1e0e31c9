"""Neighbouring data sets, sensitivities, and the calibration of Gaussian noise."""
