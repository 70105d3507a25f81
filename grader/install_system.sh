#!/bin/sh
# sh install_system.sh bubblewrap|chromium|postgresql: install it through the system's package manager where
# we may; otherwise say the command. Quick where it is there already, and never a reason to stop.
package=$1
case "$package" in
  bubblewrap)
    programs="bwrap"
    without="or grade with --sandbox off" ;;
  chromium)
    programs="chromium chromium-browser google-chrome google-chrome-stable"
    without="or do without the tests that look at pages" ;;
  postgresql)
    programs="postgres /usr/lib/postgresql/*/bin/postgres" # Debian keeps it off the PATH
    without="or do without the tests that use its server" ;;
  *)
    echo "install_system.sh: bubblewrap, chromium or postgresql, not '$package'" >&2
    exit 2 ;;
esac

there() {
  for program in $programs; do
    command -v "$program" >/dev/null 2>&1 && return 0
  done
  return 1
}
there && exit 0

if command -v apt-get >/dev/null 2>&1; then
  how="apt-get install -y --no-install-recommends $package"
elif command -v dnf >/dev/null 2>&1; then
  case "$package" in postgresql) package=postgresql-server ;; esac
  how="dnf install -y $package"
elif command -v pacman >/dev/null 2>&1; then
  how="pacman -S --noconfirm $package"
elif command -v apk >/dev/null 2>&1; then
  how="apk add $package"
else
  echo "$package is missing and no known package manager was found: install it, $without" >&2
  exit 0
fi

if [ "$(id -u)" = 0 ]; then
  as=""
elif sudo -n true 2>/dev/null; then
  as="sudo -n"
else
  as="none"
fi
if [ "$as" != none ]; then
  echo "installing $package" >&2
  case "$how" in apt-get*) $as apt-get update -qq >/dev/null 2>&1 ;; esac
  DEBIAN_FRONTEND=noninteractive $as $how >/dev/null 2>&1
fi
there || echo "$package is missing and could not be installed: run \`sudo $how\`, $without" >&2
exit 0
