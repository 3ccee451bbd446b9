//! One test for each row of the default figures: the smallest settings that leave the figure to the system.
