"""The other side of bench_fit: SciPy's least_squares on the same residuals, to the same tolerances.

usage: scipy_fit.py PROBLEM REPEATS

Prints a line per way of getting derivatives: name, seconds of this process, and the best parameters.
As there, stiffness and dissipation go by their logarithm and the contact point in parts of a length.
"""

import sys
import time

import numpy
from scipy.optimize import least_squares

with open(sys.argv[1]) as file:
    exponent = float(file.readline())
    count = int(file.readline())
    starts = [[float(x) for x in file.readline().split()] for _ in range(count)]
    position, speed, force = numpy.loadtxt(file).T
LENGTH = 1e-4


def force_of(x):
    """f = k δⁿ (1 + a δ̇)₊ and what its derivatives share."""
    depth = numpy.maximum(position - LENGTH * x[2], 0)
    power = depth**exponent
    damped = numpy.maximum(1 + numpy.exp(x[1]) * speed, 0)
    return depth, power, damped


def residuals(x):
    _, power, damped = force_of(x)
    return numpy.exp(x[0]) * power * damped - force


def jacobian(x):
    depth, power, damped = force_of(x)
    stiffness, dissipation = numpy.exp(x[0]), numpy.exp(x[1])
    by_point = -LENGTH * exponent * stiffness * depth ** (exponent - 1) * damped
    return numpy.stack([stiffness * power * damped, stiffness * power * dissipation * speed * (damped > 0), by_point], 1)


def fit(derivatives):
    best = None
    for k, a, p in starts:
        found = least_squares(residuals, [numpy.log(k), numpy.log(max(a, 1e-9)), p / LENGTH], jac=derivatives,
                              bounds=([-600, -600, -2], [600, 600, 1]), ftol=1e-14, xtol=1e-12, gtol=1e-15)
        if best is None or found.cost < best.cost:
            best = found
    return best.x


for name, derivatives in (("by differences (its default)", "2-point"), ("with derivatives", jacobian)):
    seconds = float("inf")
    for _ in range(int(sys.argv[2])):
        begin = time.process_time()
        x = fit(derivatives)
        seconds = min(seconds, time.process_time() - begin)
    print(name.replace(" ", "_"), seconds, repr(float(numpy.exp(x[0]))), repr(float(numpy.exp(x[1]))),
          repr(float(LENGTH * x[2])), flush=True)
