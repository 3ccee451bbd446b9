//! The program: see the library.

use std::process::ExitCode;

/// Running code abstractly makes and drops many small values.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    retrylint::commands::main()
}
