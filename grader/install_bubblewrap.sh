#!/bin/sh
# Install bubblewrap through the system's package manager where we may; otherwise say the command.
command -v bwrap >/dev/null 2>&1 && exit 0

if command -v apt-get >/dev/null 2>&1; then
  how="apt-get install -y bubblewrap"
elif command -v dnf >/dev/null 2>&1; then
  how="dnf install -y bubblewrap"
elif command -v pacman >/dev/null 2>&1; then
  how="pacman -S --noconfirm bubblewrap"
elif command -v apk >/dev/null 2>&1; then
  how="apk add bubblewrap"
else
  echo "bubblewrap is missing and no known package manager was found: install it, or grade with --sandbox off" >&2
  exit 0
fi

if [ "$(id -u)" = 0 ]; then
  case "$how" in apt-get*) apt-get update -qq >/dev/null 2>&1 ;; esac
  $how >/dev/null 2>&1
elif sudo -n true 2>/dev/null; then
  case "$how" in apt-get*) sudo -n apt-get update -qq >/dev/null 2>&1 ;; esac
  sudo -n $how >/dev/null 2>&1
fi
command -v bwrap >/dev/null 2>&1 || echo "bubblewrap is missing and could not be installed: run \`sudo $how\`" >&2
exit 0
