//! The program's allocator: a binary that links this package uses it.
//!
//! A separate package because the compiler generates the allocator's entry points beside this
//! declaration: the `quick` profile optimizes this package, but not the command line.

/// A charge is allocated on one thread and freed by the store's writer. With the system's allocator
/// both threads contend there, under the ledger's lock: one hold in a hundred took 10 to 12 µs, and
/// takes 2 to 8 µs with this one (docs/benchmarks.md).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
