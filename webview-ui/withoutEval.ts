import * as z from 'zod';

// Before any schema is made: zod otherwise tries `new Function`, which the page's own rules forbid.
z.config({ jitless: true });
