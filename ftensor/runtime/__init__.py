"""Devices and what runs on them: discovery, contexts, queues, events, memory, launches."""
