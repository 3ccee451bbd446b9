//! Stacks large enough for everything that recurses over Rust code of the greatest depth that is parsed.

use std::cell::Cell;

/// The stack that parsing, visiting and dropping get. Address space: pages that are never touched take no memory.
pub const STACK_SIZE: usize = 128 << 20;

thread_local! {
    static IS_LARGE: Cell<bool> = const { Cell::new(false) };
}

/// Says that this thread was made with [`STACK_SIZE`]; for the start handler of a thread pool.
pub fn mark_large() {
    IS_LARGE.set(true);
}

/// Runs `f` where the stack is large: here if this thread's is, else on a thread of its own.
/// If none can be made, `f` is not run.
pub fn on_large_stack<T: Send>(f: impl FnOnce() -> T + Send) -> std::io::Result<T> {
    if IS_LARGE.get() {
        return Ok(f());
    }
    let marked = || {
        mark_large();
        f()
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_SIZE).spawn_scoped(scope, marked)?;
        thread.join().or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// A pool whose threads have large stacks, for work on many files; `threads` = 0 takes one for each core.
pub fn pool(threads: usize) -> Result<rayon::ThreadPool, rayon::ThreadPoolBuildError> {
    rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK_SIZE).start_handler(|_| mark_large()).build()
}
