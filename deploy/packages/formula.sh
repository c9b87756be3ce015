#!/bin/sh
# Writes the Homebrew formula of a release: sh deploy/packages/formula.sh VERSION DIRECTORY URL
# URL is the download address of the archives in DIRECTORY/SHA256SUMS. On Linux and macOS: brew install --formula ./botd.rb
set -eu
version=${1#v}
cd "$2"
archive() { # OS ARCH: url and sum
  name=botd-$version-$1-$2.tar.gz
  sum=$(awk -v name="$name" '$2 == name { print $1 }' SHA256SUMS)
  [ -n "$sum" ] || { echo "SHA256SUMS lacks $name" >&2; exit 1; }
  printf '      url "%s/%s"\n      sha256 "%s"\n' "$url" "$name" "$sum"
}
url=$3
mac=$(archive darwin arm64)
intel=$(archive linux amd64)
arm=$(archive linux arm64)
cat >botd.rb <<EOF
class Botd < Formula
  desc "Runtime for automated trading strategies"
  homepage "$url"
  version "$version"
  license "MIT"

  on_macos do
    on_arm do
$mac
    end
  end
  on_linux do
    on_intel do
$intel
    end
    on_arm do
$arm
    end
  end

  def install
    bin.install "botd"
    man1.install Dir["man/*.1"]
    bash_completion.install "botd.bash" => "botd"
    zsh_completion.install "botd.zsh" => "_botd"
    fish_completion.install "botd.fish"
    (share/"botd").install "source"
  end

  service do
    run [opt_bin/"botd", "run", "-c", etc/"botd", "--log-format", "json"]
    keep_alive crashed: true
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/botd version")
  end
end
EOF
