//! Values that each lane has its own copy of.

use std::fmt;
use std::sync::OnceLock;

use crate::NUMBER;

/// Lanes with a value of their own; a lane with a higher number shares one (number modulo this).
const LANES_MAX: usize = 128;

/// One `T` per lane, created on the lane's first access. Used for pooled connections: responses on
/// a connection that another lane opened arrive there, and wake two cores for each message.
pub struct PerLane<T> {
    make: Box<dyn Fn() -> T + Send + Sync>,
    made: Box<[OnceLock<T>]>,
}

impl<T> PerLane<T> {
    pub fn new(make: impl Fn() -> T + Send + Sync + 'static) -> PerLane<T> {
        let made = (0..LANES_MAX).map(|_| OnceLock::new()).collect();
        PerLane { make: Box::new(make), made }
    }

    /// The value of the lane that calls this.
    pub fn get(&self) -> &T {
        self.made[NUMBER.get() % LANES_MAX].get_or_init(&self.make)
    }
}

impl<T: fmt::Debug> fmt::Debug for PerLane<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.made.iter().filter_map(OnceLock::get)).finish()
    }
}
