"""Studies of our own, in folders like those of :mod:`kronbench_suite.papers`.

``performance`` measures speed, ``rivals`` compares with methods of others, and ``field`` runs on
data sets and published results of the field.
"""
