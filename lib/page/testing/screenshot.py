#!/usr/bin/env python3
"""A picture of a page, as results/page has them.

usage: screenshot.py PAGE PICTURE.png WIDTHxHEIGHT [--dark] [--at SELECTOR] [--click SELECTOR]
"""
import argparse

from browser import Browser, find_chromium


def main():
    options = argparse.ArgumentParser()
    options.add_argument("page")
    options.add_argument("picture")
    options.add_argument("size")
    options.add_argument("--dark", action="store_true")
    options.add_argument("--at", metavar="SELECTOR", help="scroll to this element")
    options.add_argument("--click", metavar="SELECTOR", help="click on it")
    asked = options.parse_args()
    width, height = map(int, asked.size.split("x"))
    with Browser(find_chromium()) as browser:
        browser.size(width, height, phone=width < 500)
        browser.theme("dark" if asked.dark else "light")
        browser.open(asked.page)
        if asked.at:
            browser.run(f"document.querySelector({asked.at!r}).scrollIntoView({{behavior: 'instant'}})")
        if asked.click:
            browser.run(f"document.querySelector({asked.click!r}).click()")
        browser.run("new Promise((done) => setTimeout(done, 300))")
        browser.screenshot(asked.picture)


if __name__ == "__main__":
    main()
