from scurry.common.completable_future import *
