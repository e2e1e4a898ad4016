# System calls by their numbers on x86-64, as a hostile session would make them.
open(my $own, '<', '/app/package.json') or die;
my %calls = (
  fork => [57], vfork => [58], clone => [56, 17, 0, 0, 0, 0], clone3 => [435, 0, 88],
  unshare => [272, 0x10000000], setns => [308, 0, 0], mount => [165, "none", "/tmp", "tmpfs", 0, 0],
  pivot_root => [155, "/tmp", "/tmp"], ptrace => [101, 0, 0, 0, 0], bpf => [321, 0, 0, 0],
  userfaultfd => [323, 1], perf_event_open => [298, 0, 0, -1, -1, 0], io_uring_setup => [425, 8, 0],
  keyctl => [250, 0, -3, 1], add_key => [248, "user", "x", "x", 1, -3], memfd_create => [319, "x", 0],
  shmget => [29, 0, 4096, 01600], socket_inet => [41, 2, 1, 0], socket_inet6 => [41, 10, 1, 0],
  socket_netlink => [41, 16, 3, 0], socket_packet => [41, 17, 3, 0], x32_getpid => [0x40000027],
  mmap_shared => [9, 0, 4096, 3, 0x21, -1, 0], fsopen => [430, "tmpfs", 0],
  mmap_growing => [9, 0, 4096, 3, 0x122, -1, 0], mmap_shared_file => [9, 0, 4096, 1, 0x01, fileno($own), 0],
  process_vm_readv => [310, 1, 0, 0, 0, 0, 0],
);
my @got = grep { my ($nr, @args) = @{ $calls{$_} }; syscall($nr, @args) != -1 } sort keys %calls;
my $private = syscall(9, 0, 4096, 3, 0x22, -1, 0);
my $unix = syscall(41, 1, 1, 0);
print "{\"tried\":", scalar(keys %calls), ",\"got\":[", join(",", map { "\"$_\"" } @got), "],\"unix\":", ($unix > 0 ? "true" : "false"), ",\"private\":", ($private != -1 ? "true" : "false"), "}\n";
