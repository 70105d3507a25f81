"""Addresses that configurations of courses name since before `grader.classroom` was a package."""
