//! The allocator that the program runs on. Whoever links this package has it.
//!
//! A package of its own because the compiler puts what leads to the allocator beside this
//! declaration: the quick profile optimises it, and not the command line.

/// A charge is made on one thread and freed by the store's writer. The system's allocator makes the
/// two wait for each other there, under the ledger's lock: one hold in a hundred then took 10 to
/// 12 µs, and takes 2 to 8 µs with this one (docs/benchmarks.md).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
