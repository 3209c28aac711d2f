//! Documents by real programs, and hostile ones.

mod golden;
mod hostile;
mod pack;
mod sheets;
mod texts;
