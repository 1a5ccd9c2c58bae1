package botarena

import (
	"io/fs"
	"math"
	"os"
	"path"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
)

// setLimits tells Go's runtime what this process may use.
func setLimits() {
	if os.Getenv("GOMAXPROCS") == "" {
		// Threads beyond the quota would use it up early in each period, and then all of them stand
		// still until the next.
		cpus := int(math.Ceil(cpuQuota(os.DirFS("/"))))
		if cpus >= 1 && cpus < runtime.GOMAXPROCS(0) {
			runtime.GOMAXPROCS(cpus)
		}
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		limit, err := strconv.ParseInt(os.Getenv("BOT_MEMORY_LIMIT"), 10, 64)
		if err == nil && limit > 0 {
			// By default the heap may grow to twice of what is in use before anything is collected. A
			// quarter is left for what is not Go's.
			debug.SetMemoryLimit(limit / 4 * 3)
		}
	}
}

// cpuQuota is how many processors the cgroup of this process may use, for example 1.5; +Inf where
// nothing limits it. The folder is the root of the file system.
func cpuQuota(root fs.FS) float64 {
	quota := math.Inf(1)
	for _, mount := range cgroupMounts(root) {
		own, ok := ownCgroup(root, mount)
		if !ok {
			continue
		}
		// Each of the groups that this one is in may have a lower limit.
		for folder := own; ; folder = path.Dir(folder) {
			quota = min(quota, mount.quota(root, path.Join(mount.point, folder)))
			if folder == "/" {
				break
			}
		}
	}
	return quota
}

// cgroupMount is a hierarchy of cgroups that may limit processors.
type cgroupMount struct {
	// root is the group that is mounted, point where, without the first slash.
	root, point string
	v2          bool
}

// cgroupMounts reads them from mountinfo, as proc_pid_mountinfo(5) describes it.
func cgroupMounts(root fs.FS) []cgroupMount {
	text, err := fs.ReadFile(root, "proc/self/mountinfo")
	if err != nil {
		return nil
	}
	var mounts []cgroupMount
	for _, line := range strings.Split(string(text), "\n") {
		before, after, _ := strings.Cut(line, " - ")
		mount, kind := strings.Fields(before), strings.Fields(after)
		if len(mount) < 5 || len(kind) < 3 {
			continue
		}
		isV1 := kind[0] == "cgroup" && hasWord(kind[2], "cpu")
		if isV1 || kind[0] == "cgroup2" {
			mounts = append(mounts, cgroupMount{mount[3], strings.TrimPrefix(mount[4], "/"), !isV1})
		}
	}
	return mounts
}

// ownCgroup is the group of this process below the mount, as cgroups(7) describes it.
func ownCgroup(root fs.FS, mount cgroupMount) (string, bool) {
	text, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return "", false
	}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		parts := strings.SplitN(line, ":", 3)
		if len(parts) < 3 || mount.v2 != (parts[0] == "0") || !mount.v2 && !hasWord(parts[1], "cpu") {
			continue
		}
		own := path.Join("/", parts[2])
		if mount.root != "/" {
			own = path.Join("/", strings.TrimPrefix(own, mount.root))
		}
		return own, true
	}
	return "", false
}

// quota is that of one group; +Inf where it has none.
func (m cgroupMount) quota(root fs.FS, folder string) float64 {
	var words []string
	if m.v2 {
		text, _ := fs.ReadFile(root, path.Join(folder, "cpu.max"))
		words = strings.Fields(string(text))
	} else {
		quota, _ := fs.ReadFile(root, path.Join(folder, "cpu.cfs_quota_us"))
		period, _ := fs.ReadFile(root, path.Join(folder, "cpu.cfs_period_us"))
		words = strings.Fields(string(quota) + " " + string(period))
	}
	if len(words) != 2 {
		return math.Inf(1)
	}
	quota, err := strconv.ParseFloat(words[0], 64)
	period, err2 := strconv.ParseFloat(words[1], 64)
	if err != nil || err2 != nil || quota <= 0 || period <= 0 {
		// "max", or -1 in the first version.
		return math.Inf(1)
	}
	return quota / period
}

func hasWord(list, word string) bool {
	for _, one := range strings.Split(list, ",") {
		if one == word {
			return true
		}
	}
	return false
}
