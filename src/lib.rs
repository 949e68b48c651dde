//! Tandem: the page.
