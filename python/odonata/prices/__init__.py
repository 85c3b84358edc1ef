"""Prices of machines of any family: switches, NICs, cables by length on a floor of racks, power."""

from odonata.prices.bill import Bill, bill, bill_of
from odonata.prices.price_list import PriceList

__all__ = ["Bill", "PriceList", "bill", "bill_of"]
