# Each target is a few lines that call something else; `make` alone lists them.

PREFIX  ?= /usr
DESTDIR ?=
BUILD    = swift build --explicit-target-dependency-import-check error
RELEASE  = $(BUILD) --configuration release --static-swift-stdlib
NAMES    = chatelained chatelaine git-credential-chatelaine docker-credential-chatelaine
PROMPTER = .build/release/chatelaine-prompter
LOGIN    = .build/release/chatelaine-pam
PROGRAMS = $(NAMES:%=.build/release/%)
ROOT     = $(DESTDIR)$(PREFIX)
MOVED    = sed -E 's,/usr/(bin/chatelained|libexec/chatelaine-),$(PREFIX)/\1,'

help:
	@echo 'make demo      the main job, played by real programs on a private bus (first build: 3 minutes)'
	@echo 'make test      everything a contributor runs: checks, tests, demo, sanitizers (27 minutes, as root 40)'
	@echo 'make test-system  those parts of it that boot whole machines; needs root (13 minutes)'
	@echo 'make check     those checks of it that only read files (seconds)'
	@echo 'make conformance  other people'"'"'s programs and tests on org.freedesktop.secrets (5 minutes, the first time 15)'
	@echo 'make bench     the broker measured against a bare echo service (18 minutes)'
	@echo 'make release   build what is installed'
	@echo 'make install   install into $$(DESTDIR)$$(PREFIX); PREFIX is /usr'

demo:
	@.ci/packages demo
	@echo 'Building (minutes, the first time)'
	@$(BUILD) --quiet
	@/usr/bin/python3 Sources/Examples/demo.py

test:
	@.ci/packages test
	@.ci/test

test-system: release
	@.ci/packages system
	@/usr/bin/python3 Tests/System/run.py

check:
	@.ci/packages check
	@.ci/check

# Of CHATELAINE_PROGRAMS, a folder, where that is set; else what is built here.
conformance:
	@.ci/packages conformance
	@for name in chatelained chatelaine FixtureService; do $(BUILD) --quiet --product $$name || exit; done
	@Tests/Conformance/prepare.sh
	@Tests/Conformance/run.sh

bench: release
	@.ci/packages bench
	$(MAKE) -C Benchmarks CHATELAINED=$(CURDIR)/.build/release/chatelained

release:
	@.ci/packages build
	for name in $(NAMES) chatelaine-prompter chatelaine-pam; do $(RELEASE) --product $$name || exit; done

# Builds only where nothing is built: `sudo make install` after `make release` needs no toolchain.
$(PROGRAMS) $(PROMPTER) $(LOGIN):
	$(MAKE) release

# Whatever the prefix: below /usr/share alone the broker looks for its packages' policy, the system bus for its
# configuration, polkit for its actions, the desktop's portal for its backends and pam-auth-update for its profiles. The
# activation file of org.freedesktop.secrets goes where no bus looks, since other keyrings' packages have one:
# `chatelaine secret-service on` links to it.
install: $(PROGRAMS) $(PROMPTER) $(LOGIN)
	install -D -s -t $(ROOT)/bin $(PROGRAMS)
	install -D -s -t $(ROOT)/libexec $(PROMPTER) $(LOGIN)
	install -D -m 644 -t $(ROOT)/share/man/man1 docs/man/chatelaine.1 \
	    docs/man/git-credential-chatelaine.1 docs/man/docker-credential-chatelaine.1
	install -D -m 644 -t $(ROOT)/share/man/man5 docs/man/chatelaine-policy.5
	install -D -m 644 -t $(ROOT)/share/man/man8 docs/man/chatelained.8 docs/man/chatelaine-prompter.8 \
	    docs/man/chatelaine-pam.8
	install -D -m 644 docs/completions/chatelaine.bash $(ROOT)/share/bash-completion/completions/chatelaine
	install -D -m 644 -t $(ROOT)/share/zsh/vendor-completions docs/completions/_chatelaine
	install -D -m 644 -t $(ROOT)/share/fish/vendor_completions.d docs/completions/chatelaine.fish
	install -D -m 644 -t $(ROOT)/share/dbus-1/interfaces dbus/*.xml
	$(MOVED) dbus/org.freedesktop.secrets.service | install -D -m 644 /dev/stdin \
	    $(ROOT)/share/chatelaine/services/org.freedesktop.secrets.service
	install -D -m 644 -t $(ROOT)/share/dbus-1/session.d dbus/org.chatelaine.Broker1.conf
	install -D -m 644 -t $(DESTDIR)/usr/share/dbus-1/system.d \
	    dbus/org.chatelaine.Broker1.conf dbus/system/org.chatelaine.Broker1-owner.conf
	$(MOVED) dbus/org.chatelaine.Broker1.service | install -D -m 644 /dev/stdin \
	    $(ROOT)/share/dbus-1/services/org.chatelaine.Broker1.service
	$(MOVED) dbus/org.chatelaine.Prompter1.service | install -D -m 644 /dev/stdin \
	    $(ROOT)/share/dbus-1/services/org.chatelaine.Prompter1.service
	install -D -m 644 -t $(ROOT)/share/dbus-1/system-services dbus/system/org.chatelaine.Broker1.service
	$(MOVED) dbus/chatelained.service | install -D -m 644 /dev/stdin \
	    $(ROOT)/lib/systemd/user/chatelained.service
	$(MOVED) dbus/system/chatelained.service | install -D -m 644 /dev/stdin \
	    $(ROOT)/lib/systemd/system/chatelained.service
	install -D -m 644 -t $(ROOT)/lib/systemd/system dbus/system/chatelaine-device-key.service \
	    dbus/system/chatelaine-credential.service
	install -D -m 644 dbus/system/chatelaine.sysusers $(ROOT)/lib/sysusers.d/chatelaine.conf
	install -D -m 644 -t $(DESTDIR)/usr/share/polkit-1/actions policy/org.chatelaine.policy
	$(MOVED) policy/chatelaine.pam | install -D -m 644 /dev/stdin $(DESTDIR)/usr/share/pam-configs/chatelaine
	install -D -m 644 -t $(DESTDIR)/usr/share/xdg-desktop-portal/portals dbus/chatelaine.portal
	install -D -m 644 -t $(DESTDIR)/usr/share/chatelaine/policy.d policy/50-chatelaine.conf \
	    policy/50-chatelaine-helpers.conf
	install -D -m 644 -t $(ROOT)/share/doc/chatelaine/examples policy/examples/*.conf

.PHONY: help demo test test-system check conformance bench release install
