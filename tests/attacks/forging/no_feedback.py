"""Feedback that is no feedback.
deserves = ["tampered"]
says = "finding_of"
"""
import grader.plugin.failure_report
grader.plugin.failure_report.finding_of = lambda *a, **k: None
