"""Sys.exit at import.
deserves = ["broken"]
says = "SystemExit"
"""
import sys
sys.exit(0)
