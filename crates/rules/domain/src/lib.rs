//! The rules of the service, without I/O.
//!
//! Every function here takes values, `now` among them, and returns values: its tests need no
//! runtime, no clock and no database.

pub mod access;
pub mod catalogue;
pub mod current_catalogue;
pub mod entropy;
pub mod image_size;
pub mod languages;
pub mod limits;
pub mod media;
pub mod pricing;
pub mod secret;
pub mod styles;
pub mod voices;
pub mod web_address;
pub mod web_search;
