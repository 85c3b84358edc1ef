"""Colours of jobs that bring none of their own."""

PALETTE = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#D55E00",
    "#F0E442",
    "#8c6d5a",
    "#7b61c4",
    "#4d9221",
)
"""Okabe and Ito's colours, told apart with any colour vision, and more for the rare job after the seventh."""
