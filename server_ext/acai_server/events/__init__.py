"""Waking those who wait for events. Protocol `EventBus`, backends memory and postgres."""
