"""Declared types behind `scurry.common.typeinfo`: how they convert values, and the text Java has for these."""
