//! Things that each lane has for itself.

use std::fmt;
use std::sync::OnceLock;

use crate::NUMBER;

/// As many lanes have something of their own; further ones share with them.
const LANES_MAX: usize = 128;

/// One `T` for each lane, made when the lane first asks for it. Open connections are kept so: one
/// that another lane has opened is answered there, and wakes two cores for each message.
pub struct PerLane<T> {
    make: Box<dyn Fn() -> T + Send + Sync>,
    made: Box<[OnceLock<T>]>,
}

impl<T> PerLane<T> {
    pub fn new(make: impl Fn() -> T + Send + Sync + 'static) -> PerLane<T> {
        let made = (0..LANES_MAX).map(|_| OnceLock::new()).collect();
        PerLane { make: Box::new(make), made }
    }

    /// What the lane that this is called in has.
    pub fn get(&self) -> &T {
        self.made[NUMBER.get() % LANES_MAX].get_or_init(&self.make)
    }
}

impl<T: fmt::Debug> fmt::Debug for PerLane<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.made.iter().filter_map(OnceLock::get)).finish()
    }
}
