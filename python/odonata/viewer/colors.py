"""Default job colours."""

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
"""Okabe and Ito's seven colours, distinct with any colour vision, then three more."""
