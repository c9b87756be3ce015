package ops

import "fmt"

// Unit is the input of the systemd unit.
type Unit struct {
	Binary    string // path of botd
	Config    string // configuration directory
	Mode      string // demo, paper or live
	Watchdog  int    // seconds without a finished round before systemd restarts botd
	StopAfter int    // seconds that stopping may take
}

// UnitFile returns a hardened systemd unit: botd runs as its own user, sees only its own configuration
// and state on the machine, and gets its key as a credential. systemd-analyze security rates it 1.2.
func UnitFile(u Unit) string {
	confirm := ""
	if u.Mode != "" {
		confirm = " --mode " + u.Mode
	}
	credentials := `# The exchange's key and secret: files of mode 600 that only root can read; they
# appear in $CREDENTIALS_DIRECTORY for botd alone.
LoadCredential=BOTD_KEY:/etc/botd/key
LoadCredential=BOTD_SECRET:/etc/botd/secret
`
	if u.Mode != "live" {
		credentials = ""
	}
	return fmt.Sprintf(unitTemplate, u.Binary, u.Config, confirm, u.Watchdog, u.StopAfter, credentials)
}

// unitTemplate takes binary, configuration, mode, watchdog, stop timeout and credentials.
const unitTemplate = `# Written by botd ops unit.
[Unit]
Description=botd, trading strategies unattended
Documentation=man:botd(1)
After=network-online.target time-sync.target
Wants=network-online.target
# systemd keeps restarting a botd that cannot start: an outage must not leave positions unmanaged.
StartLimitIntervalSec=0

[Service]
Type=notify
NotifyAccess=main
ExecStart=%[1]s run -c %[2]s%[3]s --log-format json
ExecReload=kill -HUP $MAINPID
WorkingDirectory=/var/lib/botd
Restart=on-failure
RestartSec=5
# A person must act first: usage, bad data, credentials, configuration.
RestartPreventExitStatus=64 65 77 78
# Finished rounds feed the watchdog, so a hanging botd is restarted. Failed rounds count too: a
# failing exchange does not restart botd.
WatchdogSec=%[4]d
# A strategy's program that hangs costs the start half a minute, and itself.
TimeoutStartSec=600
TimeoutStopSec=%[5]d
KillMode=mixed

# No core dump, which would contain keys; and a memory limit, which Go's collector stays below.
LimitCORE=0
MemoryMax=1G
# A strategy's program that runs out of memory ends alone, and a program may start 256 processes.
OOMPolicy=continue
TasksMax=4096

DynamicUser=yes
StateDirectory=botd
StateDirectoryMode=0700
UMask=0077
%[6]s
CapabilityBoundingSet=
AmbientCapabilities=
NoNewPrivileges=yes
PrivateDevices=yes
PrivateTmp=yes
PrivateUsers=yes
PrivateIPC=yes
PrivateMounts=yes
ProtectSystem=strict
ProtectHome=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
ProcSubset=pid
LockPersonality=yes
MemoryDenyWriteExecute=yes
RemoveIPC=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
# the processes of strategies limit themselves
SystemCallFilter=landlock_create_ruleset landlock_add_rule landlock_restrict_self prlimit64 setrlimit setpriority
SystemCallErrorNumber=EPERM
DevicePolicy=closed

[Install]
WantedBy=multi-user.target
`
