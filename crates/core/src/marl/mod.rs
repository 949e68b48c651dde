//! marl
