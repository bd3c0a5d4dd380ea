// Types that the document of the service has no names for.
export {};
