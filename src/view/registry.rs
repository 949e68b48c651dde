//! The list of views, in the order of their tabs. Menus, links, layout and tests iterate over it.

use crate::view::api::View;
use crate::view::observation::ObservationView;
use crate::view::policy::PolicyView;
use crate::view::qtot::QtotView;
use crate::view::returns::ReturnsView;
use crate::view::rewards::RewardsView;
use crate::view::teams::TeamsView;

/// Fresh views, in the order of their tabs.
#[must_use]
pub fn views() -> Vec<Box<dyn View>> {
    vec![
        Box::new(QtotView::default()),
        Box::new(PolicyView::default()),
        Box::new(ReturnsView),
        Box::new(RewardsView::default()),
        Box::new(ObservationView::default()),
        Box::new(TeamsView),
    ]
}
