#!/bin/sh
# Unpack Debian's headless Chromium, and what this machine lacks of what it needs, into the folder $1. Nothing is installed.
# The machine's own package lists are taken where they are there and fresh; else new ones are fetched beside the packages.
set -eu

fail() {
	echo "test-browser needs Chromium: $1" >&2
	exit 1
}
for tool in apt-get dpkg; do
	command -v $tool >/dev/null || fail "install chromium, so that it is in PATH (this machine has no $tool to fetch Debian's)"
done
folder=$1
rm -rf "$folder.new"
mkdir -p "$folder.new/packages"
folder=$(cd "$(dirname "$folder")" && pwd)/$(basename "$folder")
new=$folder.new
cd "$new/packages"

# Not as the user _apt, who may not write here.
set -- -o APT::Sandbox::User=root -o Acquire::Languages=none
fetch() {
	wanted=$(apt-get "$@" install --print-uris -qq --no-install-recommends chromium-headless-shell fonts-dejavu-core) || return 1
	# The second word of a line is the package's file, PACKAGE_VERSION_ARCHITECTURE.deb.
	names=$(echo "$wanted" | awk '{split($2, file, "_"); print file[1]}')
	[ -n "$names" ] && apt-get "$@" download -q $names
}
if ! fetch "$@" >"$new/log" 2>&1; then
	mkdir -p "$new/lists/partial" "$new/cache/archives/partial"
	set -- "$@" -o Dir::State::lists="$new/lists" -o Dir::Cache="$new/cache"
	{ apt-get "$@" update && fetch "$@"; } >>"$new/log" 2>&1 || {
		tail -5 "$new/log" >&2
		fail "install chromium, so that it is in PATH; or apt sources that have chromium-headless-shell, as Debian 12 and later do"
	}
fi
for package in *.deb; do
	dpkg -x "$package" "$new/root"
done
cd "$new"
rm -rf "$new/packages" "$new/lists" "$new/cache"

cat >"$new/fonts.conf" <<'END'
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
<include ignore_missing="yes">/etc/fonts/fonts.conf</include>
<dir>/usr/share/fonts</dir><dir prefix="xdg">fonts</dir><cachedir prefix="xdg">fontconfig</cachedir>
<alias><family>sans-serif</family><prefer><family>DejaVu Sans</family></prefer></alias>
</fontconfig>
END
cat >"$new/chromium" <<'END'
#!/bin/sh
# Chromium with the libraries and fonts that were unpacked beside it.
here=$(cd "$(dirname "$0")" && pwd)
libraries=
for folder in "$here"/root/usr/lib/*-linux-gnu "$here"/root/usr/lib/*-linux-gnu/pulseaudio; do
	libraries=$libraries${libraries:+:}$folder
done
export LD_LIBRARY_PATH="$libraries" FONTCONFIG_FILE="$here/fonts.conf" XDG_DATA_HOME="$here/root/usr/share" XDG_CACHE_HOME="$here/cache"
exec "$here/root/usr/lib/chromium/chromium-headless-shell" "$@"
END
chmod +x "$new/chromium"
cd ..
mv "$new" "$folder"
