package botarena

import (
	"math"
	"testing"
	"testing/fstest"
)

func TestTheQuotaIsThatOfTheTightestGroup(t *testing.T) {
	const (
		v2 = "25 30 0:23 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
		v1 = "33 32 0:29 /docker/a /sys/fs/cgroup/cpu ro,nosuid master:9 - cgroup cgroup rw,cpu,cpuacct\n"
	)
	for name, each := range map[string]struct {
		files map[string]string
		quota float64
	}{
		"nothing": {nil, math.Inf(1)},
		"no limit": {
			map[string]string{"mountinfo": v2, "cgroup": "0::/a\n", "cgroup/a/cpu.max": "max 100000\n"},
			math.Inf(1),
		},
		"own": {
			map[string]string{"mountinfo": v2, "cgroup": "0::/a\n", "cgroup/a/cpu.max": "150000 100000\n"},
			1.5,
		},
		"parent": {
			map[string]string{
				"mountinfo": v2, "cgroup": "0::/a/b/c\n",
				"cgroup/a/cpu.max": "50000 100000\n", "cgroup/a/b/cpu.max": "400000 100000\n",
				"cgroup/a/b/c/cpu.max": "max 100000\n",
			},
			0.5,
		},
		"namespace": {
			map[string]string{"mountinfo": v2, "cgroup": "0::/\n", "cgroup/cpu.max": "200000 100000\n"},
			2,
		},
		"outside": {
			map[string]string{"mountinfo": v2, "cgroup": "0::/../b\n", "cgroup/cpu.max": "200000 100000\n"},
			2,
		},
		"first version": {
			map[string]string{
				"mountinfo": v1, "cgroup": "5:memory:/docker/a\n4:cpu,cpuacct:/docker/a/b\n",
				"cgroup/cpu/b/cpu.cfs_quota_us":  "300000\n",
				"cgroup/cpu/b/cpu.cfs_period_us": "100000\n",
				"cgroup/cpu/cpu.cfs_quota_us":    "-1\n",
				"cgroup/cpu/cpu.cfs_period_us":   "100000\n",
			},
			3,
		},
		"nonsense": {
			map[string]string{"mountinfo": "a - b\n" + v2, "cgroup": "0:\n0::/a\n", "cgroup/a/cpu.max": "x y\n"},
			math.Inf(1),
		},
	} {
		root := fstest.MapFS{}
		for file, text := range each.files {
			path := "sys/fs/" + file
			if file == "mountinfo" || file == "cgroup" {
				path = "proc/self/" + file
			}
			root[path] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := cpuQuota(root); got != each.quota {
			t.Errorf("%s: %v, expected %v", name, got, each.quota)
		}
	}
}
