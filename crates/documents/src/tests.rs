//! Documents by real programs, and hostile ones.

mod golden;
mod hostile;
mod old_sheets;
mod pack;
mod sheets;
mod texts;
